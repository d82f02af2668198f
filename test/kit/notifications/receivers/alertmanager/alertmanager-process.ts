import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { localServer } from '../../../commands/local-server.ts'
import { temporaryFolder } from '../../../store/temporary-folder.ts'

/** The used part of a notification of Alertmanager's webhook. */
export type WebhookNotification = {
  status: 'firing' | 'resolved'
  groupLabels: Record<string, string>
  alerts: {
    status: 'firing' | 'resolved'
    labels: { alertname: string; [label: string]: string }
    startsAt: string
    endsAt: string
  }[]
}

/** The programs that are not on the PATH. */
export const missingPrograms = ['prometheus-alertmanager', 'amtool'].filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
)

/**
 * An Alertmanager that notifies a webhook, on free ports of loopback, gone after the test. By default it groups by target, and waits for
 * a second only.
 *
 * @param folder of an Alertmanager that was stopped: what it notified is known
 */
export async function startAlertmanager({
  route: given = { group_by: ['target'], group_wait: '1s', group_interval: '1s' },
  folder = temporaryFolder(),
}: {
  route?: { group_by: string[]; group_wait: string; group_interval: string }
  folder?: string
} = {}) {
  const notifications: WebhookNotification[] = []
  const webhook = await localServer((request, response) => {
    void text(request).then((body) => {
      notifications.push(JSON.parse(body))
      response.end()
    })
  })
  const route = { receiver: 'webhook', ...given }
  const receivers = [{ name: 'webhook', webhook_configs: [{ url: webhook.url }] }]
  // JSON is YAML, too.
  writeFileSync(join(folder, 'alertmanager.yml'), JSON.stringify({ route, receivers }))
  const child = spawn(
    'prometheus-alertmanager',
    [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  await once(child, 'spawn')
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  // Its folder is deleted after it has ended.
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const url = `http://${await addressIn(child.stderr)}`
  return {
    url,
    folder,
    notifications,
    /** Lets it end in order; it keeps in its folder what it notified. */
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
    /** Runs amtool against this Alertmanager; what it printed. */
    amtool: (...args: string[]): string => {
      const { error, status, stdout, stderr } = spawnSync('amtool', [`--alertmanager.url=${url}`, ...args], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: folder },
        timeout: 60_000,
      })
      if (error !== undefined || status !== 0) throw new Error(`amtool failed: ${stderr}`, { cause: error })
      return stdout.trim()
    },
  }
}

/** Where Alertmanager listens, as it logs it; whatever else it logs is read, so that it never waits for us. */
function addressIn(log: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    log.setEncoding('utf8')
    log.on('data', (part: string) => {
      output += part
      const address = /"Listening on" address=(127\.0\.0\.1:\d+)/.exec(output)?.[1]
      if (address !== undefined) resolve(address)
    })
    log.on('end', () => reject(new Error(`Alertmanager ended before it listened:\n${output}`)))
  })
}
