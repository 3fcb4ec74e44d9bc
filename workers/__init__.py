"""Celery workers: jobs by noun, three lines each."""
