import { expect, test } from 'vitest'
import { loadConfig } from '../../../../src/config/load-config.ts'
import { configWarnings } from '../../../../src/config/warnings.ts'
import { folderWith } from '../folder-with.ts'
import { problemsWhenLoading } from '../problems-when-loading.ts'

const TARGET = { CALLWATCH_APP_ID: 'a', CALLWATCH_REGION: 'us', CALLWATCH_API_KEY: 'k' }
const FILE = 'targets: [{ app_id: a1, region: us, api_key: k }]\n'

test.each([
  ['CALLWATCH_STORE_PAHT', 'CALLWATCH_STORE_PATH'],
  ['CALLWATCH_APIKEY_FILE', 'CALLWATCH_API_KEY_FILE'],
  ['CALLWATCH_HTTPS_PORT', 'CALLWATCH_HTTP_PORT'],
  ['CALLWATCH_CONFG', 'CALLWATCH_CONFIG'],
  ['CALLWATCH_SLACK_WEBHOOK_URL', 'SLACK_WEBHOOK_URL'],
  ['callwatch_log_level', 'CALLWATCH_LOG_LEVEL'],
])('a variable that is probably a known one is refused: %s', (name, meant) => {
  expect(problemsWhenLoading({ env: { ...TARGET, [name]: 'hunter2' }, cwd: folderWith({}) })).toBe(
    `${name}: unknown variable; did you mean \`${meant}\`?`,
  )
})

test.each(['CALLWATCH_VERSION', 'CALLWATCH_DB_PASSWORD', 'CALLWATCH_ENV'])(
  'another unknown one is a warning without its value: %s',
  (name) => {
    const config = loadConfig({ env: { ...TARGET, [name]: 'hunter2' }, cwd: folderWith({}) })
    expect(configWarnings(config)).toEqual([
      expect.stringMatching(new RegExp(`^the variable ${name} is unknown and not used; known are CALLWATCH_APP_ID, `)),
    ])
    expect(configWarnings(config).join('')).not.toContain('hunter2')
  },
)

test.each<[what: string, env: Record<string, string>, file: string]>([
  ['an empty one', { CALLWATCH_STORE_PAHT: '' }, FILE],
  [
    'one that the file refers to',
    { CALLWATCH_API_KEY2: 'k' },
    FILE.replace('api_key: k', 'api_key: ${CALLWATCH_API_KEY2}'),
  ],
  [
    'those that Kubernetes sets for services named callwatch, callwatch-store and callwatch-http-api',
    {
      CALLWATCH_SERVICE_HOST: '10.0.0.1',
      CALLWATCH_SERVICE_PORT: '9464',
      CALLWATCH_SERVICE_PORT_HTTP: '9464',
      CALLWATCH_PORT: 'tcp://10.0.0.1:9464',
      CALLWATCH_PORT_9464_TCP: 'tcp://10.0.0.1:9464',
      CALLWATCH_PORT_9464_TCP_PROTO: 'tcp',
      CALLWATCH_PORT_9464_TCP_PORT: '9464',
      CALLWATCH_PORT_9464_TCP_ADDR: '10.0.0.1',
      CALLWATCH_STORE_PORT: 'tcp://10.0.0.2:5432',
      CALLWATCH_STORE_SERVICE_HOST: '10.0.0.2',
      CALLWATCH_HTTP_API_SERVICE_PORT: '80',
    },
    FILE,
  ],
])('nothing is said of %s', (_what, env, file) => {
  const config = loadConfig({ env, cwd: folderWith({ 'callwatch.yaml': file }) })
  expect(configWarnings(config)).toEqual([])
})
