# test/real/container performs these steps.
FROM node:26.10.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY rolldown.config.ts ./
COPY src ./src
COPY docs/runbooks.md ./docs/
RUN npm run build

FROM node:26.10.0-slim
LABEL org.opencontainers.image.title="callwatch" \
  org.opencontainers.image.description="Watches CometChat voice and video calls: counts, minutes and failures for Prometheus, alerts for Slack" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
# These, and two flags of Node.js below, make it return memory after a long poll (docs/development/performance.md).
ENV MALLOC_ARENA_MAX=2
ENV MALLOC_MMAP_THRESHOLD_=32768
WORKDIR /app
COPY LICENSE ./
COPY --from=build /app/dist ./dist
RUN install -d -o 1000 -g 1000 /data
ENV CALLWATCH_STORE_PATH=/data/callwatch.db
# In a container, loopback is reached by nobody. Without http.auth the daemon warns at the start that others reach it.
# `::` is all addresses, those of IPv4 included.
ENV CALLWATCH_HTTP_HOST=::
VOLUME /data
# The image's user `node`, by number: Kubernetes' runAsNonRoot cannot resolve a name.
USER 1000:1000
EXPOSE 9464
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s \
  CMD ["node", "dist/main.js", "status", "--health"]
# SIGUSR1 would open a debugger to any process that may send signals.
ENTRYPOINT ["node", "--disable-sigusr1", "--max-semi-space-size=2", "--compact-on-every-full-gc", "dist/main.js"]
CMD ["run"]
