# Greenroom in a container. It needs the package registries while it is built, and nothing while it runs.
#   docker build -t greenroom .
#   docker run -d --name greenroom -v greenroom:/var/lib/greenroom -v /run/greenroom:/run/greenroom -v /srv/work:/srv/work greenroom
# It listens on a Unix socket in /run/greenroom. The agents run in the container too: install theirs in an image built from this one.

FROM python:3.11-slim AS build
WORKDIR /source
COPY requirements requirements
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.lock \
    && python -m venv /opt/greenroom \
    && /opt/greenroom/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.lock
COPY . .
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && /opt/greenroom/bin/pip install --no-cache-dir --no-deps --no-index /wheels/*.whl

FROM python:3.11-slim
# An init as process 1: it waits for orphans of agents' tools and passes the signals on.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/greenroom/home greenroom \
    && install -d -o greenroom -g greenroom -m 0700 /var/lib/greenroom /var/lib/greenroom/data \
    && install -d -o greenroom -g greenroom /run/greenroom /srv/work
COPY --from=build /opt/greenroom /opt/greenroom
ENV PATH=/opt/greenroom/bin:$PATH \
    PYTHONUNBUFFERED=1
USER greenroom
WORKDIR /var/lib/greenroom/home
VOLUME ["/var/lib/greenroom", "/run/greenroom"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "greenroom"]
CMD ["serve", "--data-dir", "/var/lib/greenroom/data", "--listen", "unix:/run/greenroom/greenroom.sock"]
