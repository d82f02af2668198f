# test/container performs these steps.
FROM node:26.10.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY rolldown.config.ts ./
COPY src ./src
COPY docs/runbooks.md ./docs/
RUN npm run build

FROM node:26.10.0-slim
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
ENV CALLWATCH_HTTP_HOST=0.0.0.0
VOLUME /data
# The image's user `node`, by number: Kubernetes' runAsNonRoot cannot resolve a name.
USER 1000:1000
EXPOSE 9464
# By HTTP, or by HTTPS with http.tls; within the container the certificate need not be verified.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "--no-warnings", "--eval", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; const ask = (scheme) => fetch(`${scheme}://127.0.0.1:${process.env.CALLWATCH_HTTP_PORT || 9464}/healthz`); ask('http').catch(() => ask('https')).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGUSR1 would open a debugger to any process that may send signals.
ENTRYPOINT ["node", "--disable-sigusr1", "--max-semi-space-size=2", "--compact-on-every-full-gc", "dist/main.js"]
CMD ["run"]
