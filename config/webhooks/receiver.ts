// A receiver of the events of callwatch, for Node.js 24 or later with the package callwatch (docs/events.md). It writes missed calls into
// its table `missed`, and listens on loopback, for a proxy that has the certificate.
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { verifyWebhook, WebhookRefused, type CallwatchEvent, type WebhookRequest } from 'callwatch'

// Without a secret, verifyWebhook throws.
const { CRM_WEBHOOK_SECRET: SECRET = '' } = process.env
const db = new DatabaseSync('crm.db')
db.exec('CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)')
db.exec('CREATE TABLE IF NOT EXISTS missed (session_id TEXT, at TEXT)')

createServer((request, response) => {
  void text(request)
    .catch(() => '')
    .then((body) => response.writeHead(receive({ headers: request.headers, body })).end())
}).listen(Number(process.env['PORT'] ?? 8000), '127.0.0.1')

function receive(request: WebhookRequest): number {
  try {
    processOnce(verifyWebhook(request, SECRET))
    return 204
  } catch (error) {
    return error instanceof WebhookRefused ? 401 : 500 // after 500 it is sent again
  }
}

function processOnce(event: CallwatchEvent): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const isNew = db.prepare('INSERT OR IGNORE INTO seen (id) VALUES (?)').run(event.id).changes === 1
    if (isNew && event.type === 'callwatch.call.unanswered')
      db.prepare('INSERT INTO missed VALUES (?, ?)').run(event.data.session_id, event.time)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}
