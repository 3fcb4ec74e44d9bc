"""One use case a function; the same nouns as app/api. Knows no HTTP, no SQL, no Celery."""
