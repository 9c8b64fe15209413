"""A run and its ruling for people: a static site, JUnit for CI, a Markdown summary for the job's page."""
