import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { closedPort } from '../../../commands/local-server.ts'
import { temporaryFolder } from '../../../store/temporary-folder.ts'

export const isMissing = spawnSync('alertmanager-irc-relay', ['--help']).error !== undefined

/**
 * Debian's relay from webhooks of Alertmanager to IRC, and as much of an IRC server as it needs: what it has said in the
 * channel `#calls`, and where it takes webhooks. Gone after the test.
 */
export async function startIrcRelay() {
  const said: string[] = []
  const sockets = new Set<Socket>()
  const irc = createServer((socket) => {
    sockets.add(socket)
    let rest = ''
    socket.setEncoding('utf8').on('error', () => undefined)
    socket.on('data', (part: string) => {
      const lines = (rest + part).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) for (const reply of answersTo(line)) socket.write(`${reply}\r\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(irc, 'listening')

  let nick = ''
  function answersTo(line: string): string[] {
    const [command = '', ...args] = line.split(' ')
    if (command === 'NICK') nick = args[0] ?? ''
    if (command === 'USER') return [`:irc.test 001 ${nick} :Welcome`]
    if (command === 'PING') return [`:irc.test PONG irc.test ${args.join(' ')}`]
    if (command === 'JOIN') return [`:${nick}!bot@test JOIN :${args[0]}`]
    if (command === 'PRIVMSG' && args[0] === '#calls') said.push(args.slice(1).join(' ').replace(/^:/, ''))
    return []
  }

  const port = await closedPort()
  const file = join(temporaryFolder(), 'relay.yml')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port: ircPort } = irc.address() as AddressInfo
  const config = {
    http_host: '127.0.0.1',
    http_port: port,
    irc_host: '127.0.0.1',
    irc_port: ircPort,
    irc_use_ssl: false,
    irc_nickname: 'relay',
    irc_realname: 'relay',
    irc_channels: [{ name: '#calls' }],
    use_privmsg: true,
    msg_once_per_alert_group: false,
    msg_template:
      '{{ .Status }} {{ .Labels.alertname }} {{ .Labels.severity }} on {{ .Labels.target }} {{ .Annotations.summary }} {{ .Fingerprint }}',
  }
  // JSON is YAML, too.
  writeFileSync(file, JSON.stringify(config))
  const child = spawn('alertmanager-irc-relay', ['--config', file], { stdio: 'ignore' })
  const exited = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    for (const socket of sockets) socket.destroy()
    irc.close()
  })
  const url = `http://127.0.0.1:${port}/calls`
  await vi.waitFor(async () => fetch(url), { timeout: 40_000, interval: 50 })
  return { url, said }
}
