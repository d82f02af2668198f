# There is no build: Node.js runs the TypeScript as it is. test/container performs these steps.
FROM node:26.10.0-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY src ./src
RUN install -d -o 1000 -g 1000 /data
ENV CALLWATCH_STORE_PATH=/data/callwatch.db
VOLUME /data
# The image's user `node`, by number: Kubernetes' runAsNonRoot cannot resolve a name.
USER 1000:1000
EXPOSE 9464
# By HTTP, or by HTTPS with http.tls; within the container the certificate need not be verified.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "--no-warnings", "--eval", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; const ask = (scheme) => fetch(`${scheme}://127.0.0.1:${process.env.CALLWATCH_HTTP_PORT || 9464}/healthz`); ask('http').catch(() => ask('https')).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGUSR1 would open a debugger to any process that may send signals.
ENTRYPOINT ["node", "--disable-sigusr1", "src/main.ts"]
CMD ["run"]
