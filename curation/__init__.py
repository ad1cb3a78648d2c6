"""From papers to a published release."""
