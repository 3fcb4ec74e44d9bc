# Every target is one line over ./dev, which needs nothing but Python 3.11 or newer.
PYTHON ?= python3
DEV = $(PYTHON) dev

.DEFAULT_GOAL := help
.PHONY: help run test check docs bench lock

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

run: ## Install what is missing, start hango with its own PostgreSQL and Redis
	@$(DEV) run

test: ## Install what is missing, run all tests (ARGS="-k name" goes to pytest)
	@$(DEV) test $(ARGS)

check: ## Style, formatting, types, layers; the admin page too
	@$(DEV) check

docs: ## Write the generated pages of docs/ anew, and the API's types for the admin page
	@$(DEV) python -m docs.generate
	@$(DEV) npm run types

bench: ## Measure speed and estimates, print the tables
	@$(DEV) python -m bench

lock: ## Choose the newest allowed versions of all dependencies anew
	@$(DEV) lock
