"""The words everyone speaks: expression, unit, domain, card."""
