import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startSimulator, type SimulatorOptions } from '../../../src/simulator/simulator.ts'
import { replayed } from '../../unit/simulator/replayed.ts'
import { callwatch, configFile, emptyFolder, startHere } from '../../kit/commands/callwatch.ts'
import { localServer } from '../../kit/commands/local-server.ts'

const KEY = 'hunter2-hunter2-key'
const NOW = Math.floor(Date.now() / 1000)

/** What must not be in a recording. */
const NAMES = [
  'Zoë Ångström-Quist',
  'https://avatars.example/zoe.quist.png',
  'zoe.quist@mail.example',
  '+49 170 5556677',
  'Quarterly review/Ü 7 %41',
  'room of zoe.quist',
  'Zoes_iPhone_15_Pro',
  '9007199254740881',
  'mid-4bd1-zoe',
  'Kundennummer Müller',
  'sekret "quoted" \\ tag',
  'https://files.example/rec/zoe-quist.mp4',
  'x1zoeapp2481638fb',
  'behalf-of-zoe',
  'zoequist',
]
const [NAME, AVATAR, EMAIL, PHONE, SESSION, GROUP, DEVICE, NUMBER, MID, FIELD, TAG, URL_OF, APP, BEHALF, KEY_OF] = NAMES

function call(index: number) {
  const entity = { uid: EMAIL, name: NAME, avatar: AVATAR, status: 'available', role: 'default', lastActiveAt: NOW }
  return {
    sessionId: `${SESSION} ${index}`,
    mid: `${MID}-${index}`,
    type: 'video',
    mode: 'call',
    receiverType: 'users',
    status: 'ended',
    initiator: EMAIL,
    receiver: GROUP,
    data: { entities: { initiator: { entity, entityType: 'user' }, receiver: { entity } }, [FIELD!]: NUMBER },
    metaData: { [FIELD!]: PHONE, nested: [{ [EMAIL!]: true }], [KEY_OF!]: 1 },
    votes: { [KEY_OF!]: 1 },
    tags: [TAG],
    totalDurationInMinutes: 1.25,
    initiatedAt: NOW - 60 * index,
    endedAt: NOW - 60 * index + 59,
    participants: [
      {
        uid: EMAIL,
        name: NAME,
        avatar: AVATAR,
        deviceId: DEVICE,
        isJoined: true,
        [FIELD!]: 1,
        joinedAt: NOW - 60 * index,
      },
    ],
    recordings: [{ rid: MID, recording_url: URL_OF, duration: 1 }],
    customer: Number(NUMBER),
  }
}

/** A service whose answers, headers and errors are full of names. */
async function namingService() {
  const calls = Array.from({ length: 130 }, (_none, index) => call(index))
  const requested: string[] = []
  const { url } = await localServer((request, response) => {
    requested.push(request.url!)
    const { pathname, searchParams } = new URL(request.url!, 'http://a')
    const id = decodeURIComponent(pathname.slice('/calls/'.length))
    const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('perPage'))]
    const listed = { data: calls.slice((page - 1) * size, page * size), meta: { pagination: { total: calls.length } } }
    const known = calls.find(({ sessionId }) => sessionId === id)
    const error = {
      code: 'ERR_CALL_SESSION_NOT_FOUND',
      message: `${NAME} of ${APP}`,
      details: { key: KEY, [EMAIL!]: id },
    }
    const body = pathname === '/calls' ? listed : known === undefined ? { error } : { data: [known] }
    const headers = {
      'set-cookie': `user=${EMAIL}`,
      'x-app': APP!,
      'content-encoding': 'gzip',
      'x-ratelimit-remaining': '77',
    }
    response.writeHead(known === undefined && pathname !== '/calls' ? 404 : 200, headers)
    response.end(gzipSync(JSON.stringify(body)))
  })
  return { url, requested }
}

/** Characters. */
const MIN_CERTAIN = 8

/** The encodings in which a text may be in a file. */
function encodingsOf(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const spellings = [text, escaped, JSON.stringify(escaped).slice(1, -1), encodeURIComponent(text), encodeURI(text)]
  const formed = [new URLSearchParams([['', text]]).toString().slice(1), text.replaceAll('/', '\\/')]
  const ascii = text.replaceAll(/[^\p{ASCII}]/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const bytes = Buffer.from(text)
  // Base64 of a text depends on where it begins in a group of three bytes: without what its neighbours change.
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return encoded.slice(before === 0 ? 0 : before + 1, -4)
  })
  // The random ids of a recording may have a shorter part by chance.
  const certain = base64.filter((part) => part.length >= MIN_CERTAIN)
  const plain = [...spellings, ...formed, ascii, ...text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 4)]
  return [
    ...plain.map((each) => each.toLowerCase()),
    bytes.toString('hex'),
    ...certain.map((each) => each.toLowerCase()),
  ]
}

const config = (url: string, more = '', name = 'production') =>
  configFile(`targets: [{ name: ${name}, base_url: '${url}', api_key: '${KEY}'${more} }]\n`)

test('a recording of answers that are full of names has none of them, in no encoding', async () => {
  const { url, requested } = await namingService()
  const file = join(emptyFolder(), 'recording.json')
  const query = `, on_behalf_of: '${BEHALF}', query: { uid: '${EMAIL}', app: '${APP}' }`
  const { code, stdout, stderr } = await callwatch(['check', '--record', file, '--config', config(url, query)])
  expect([code, stderr]).toEqual([0, ''])
  expect(requested.length).toBeLessThanOrEqual(10)
  const text = readFileSync(file, 'utf8')
  const { host, port } = new URL(url)
  const kept = [...NAMES, KEY, host, `:${port}`].filter((name) =>
    encodingsOf(name).some((spelling) => text.toLowerCase().includes(spelling)),
  )
  expect(kept).toEqual([])
  expect(text).not.toMatch(/set-cookie|x-app|hunter2|apikey|onbehalfof/i)
  expect(text).toContain('"totalDurationInMinutes": 1.25')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(stdout).toMatch(/recording\.json has \d+ answers; replaced or shifted: \d{3,} ids, \d{3,} texts, /)
})

const findingsOf = (stdout: string) => stdout.match(/^ {2}[✓!] .*/gm)!

async function probeAndReplay(url: string, more = '') {
  const file = join(emptyFolder(), 'recording.json')
  const yaml = config(url, more, 'a')
  const original = await callwatch(['check', '--record', file, '--config', yaml])
  expect(original.code).toBe(0)
  const { answers }: { answers: { headers: { date: string } }[] } = JSON.parse(readFileSync(file, 'utf8'))
  // The clock of this machine at the time of the recording, which all times were shifted to.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(answers[0]!.headers.date) })
  onTestFinished(() => void vi.useRealTimers())
  const replay = await callwatch(['check', '--probe', '--config', config(await replayed(file), '', 'a')])
  expect(replay.code).toBe(0)
  return { original: findingsOf(original.stdout), replay: findingsOf(replay.stdout), summary: [original, replay] }
}

test('a replayed recording makes `check --probe` print the same lines, with the names of unknown fields', async () => {
  const { url } = await namingService()
  const { original, replay } = await probeAndReplay(url)
  expect(replay).toEqual(original)
  expect(original).toContainEqual(expect.stringContaining('! fields: call.votes, call.customer, an unusual name: '))
  expect(original).toContain('  ✓ compression: gzip')
})

test.each<[string, SimulatorOptions, string?]>([
  ['as it is', {}],
  ['oldest first, without totals', { switches: { order: 'oldest', total: 'absent' } }],
  ['in no order, with small pages', { switches: { order: 'shuffled', perPage: 20 } }],
  ['with a limit', { requestsPerMinute: 100 }],
  ['that refuses after three requests', { requestsPerMinute: 3 }],
  ['with parameters', {}, ', query: { status: ended }'],
  ['without calls', { history: 0, open: 0, callsPerMinute: 0.001 }],
])('so does a recording of the simulator %s', async (_how, options, more) => {
  const simulator = await startSimulator({ history: 300, apiKey: KEY, ...options })
  onTestFinished(simulator.close)
  const { original, replay } = await probeAndReplay(simulator.url, more)
  expect(replay).toEqual(original)
  expect(original.length).toBeGreaterThan(5)
})

test('a recording is not written over a file, and the error says what to do', async () => {
  const { url } = await namingService()
  const file = join(emptyFolder(), 'notes.json')
  writeFileSync(file, 'mine')
  const { code, stderr } = await callwatch(['check', '--record', file, '--config', config(url)])
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/--record needs a new file: delete this one, or name another \(.*notes\.json/),
  ])
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('a recording has one target: of several, one must be named', async () => {
  const { url } = await namingService()
  const file = join(emptyFolder(), 'recording.json')
  const target = (name: string) => `{ name: ${name}, base_url: '${url}', api_key: '${KEY}' }`
  const yaml = configFile(`targets: [${target('a')}, ${target('b')}]\n`)
  const refused = await callwatch(['check', '--record', file, '--config', yaml])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('choose one with --target: a, b')])
  const { code, stdout } = await callwatch(['check', '--json', '--record', file, '--target', 'b', '--config', yaml])
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      probes: [
        {
          target: 'b',
          findings: expect.arrayContaining([{ check: 'compression', result: 'ok', message: 'gzip' }]),
          recording: { file, answers: 7, replaced: { ids: expect.any(Number), times: expect.any(Number) } },
        },
      ],
    },
  ])
})

test('what a service refuses is recorded as well', async () => {
  const { url } = await localServer((_request, response) => {
    response.writeHead(401).end(JSON.stringify({ error: { code: 'AUTH_ERR_APIKEY_NOT_FOUND', message: `no ${KEY}` } }))
  })
  const file = join(emptyFolder(), 'recording.json')
  expect((await callwatch(['check', '--record', file, '--config', config(url)])).code).toBe(1)
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('AUTH_ERR_APIKEY_NOT_FOUND')
  expect(text).not.toContain('hunter2')
})

test('simulate --replay serves a recording, and says what is not one', async () => {
  const { url } = await namingService()
  const folder = emptyFolder()
  await callwatch(['check', '--record', join(folder, 'recording.json'), '--config', config(url)])
  const running = startHere(['simulate', '--port', '0', '--replay', 'recording.json'], { cwd: folder })
  const [, served] = await running.printed(/^calls service: (\S+)/m)
  const again = await callwatch(['check', '--probe', '--config', config(served!)])
  expect(again.stdout).toContain('List Calls works')
  for (const file of ['no-such-file.json', 'text.json', 'other.json', '.']) {
    writeFileSync(join(folder, 'text.json'), 'text')
    writeFileSync(join(folder, 'other.json'), '{}')
    const { code, stderr } = await callwatch(['simulate', '--port', '0', '--replay', file], { cwd: folder })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('It must be a file that `callwatch check --record` has written.'),
    ])
  }
})

test('ids that are longer than numbers are exact stay the same in lists and paths, so that a replay finds them', async () => {
  const { url } = await localServer((request, response) => {
    const row = '{"sessionId":90071992547408819,"status":"ended"}'
    response.end(request.url!.startsWith('/calls/9') ? `{"data":${row}}` : `{"data":[${row}]}`)
  })
  const { original, replay } = await probeAndReplay(url)
  expect(original).toContainEqual(expect.stringContaining('✓ get call: 200, object'))
  expect(replay).toEqual(original)
})

test('an answer that is nested too deeply to be recorded is an error in one line', async () => {
  const { url } = await localServer((_request, response) => {
    response.end('['.repeat(200_000) + ']'.repeat(200_000))
  })
  const file = join(emptyFolder(), 'recording.json')
  const { code, stderr } = await callwatch(['check', '--record', file, '--config', config(url)])
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^.*nothing was recorded.*\n$/)])
})
