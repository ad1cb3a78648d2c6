"""Gene-network organisms: a hidden fault, its diagnosis, and its rescue.

Source: arXiv 2611.03100 (the environment) and "Treating the Symptom, Missing the Cause", appendix 7.
"""
