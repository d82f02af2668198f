import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { contentOf } from '../../src/web/api/route.ts'
import { ROUTES } from '../../src/web/api/routes.ts'

const SRC = join(import.meta.dirname, '../../src')
/** The body of a receiver lies with it. */
const BODY = 'notifications/receivers/webhook/webhook-body.ts'
const files = globSync('**/*.ts', { cwd: SRC }).filter((name) => !name.startsWith('views/') && name !== BODY)
const sourceOf = (name: string) => readFileSync(join(SRC, name), 'utf8')

/** What the modules of src/views export. */
const views = await Promise.all(
  globSync('views/**/*.ts', { cwd: SRC }).map(async (name) => Object.values<unknown>(await import(join(SRC, name)))),
)
const schemas = new Set(views.flat().filter((value) => value instanceof z.ZodType))

test.each(ROUTES.map(({ method, url, answers }) => [`${method} ${url}`, answers] as const))(
  'all that %s answers has its schema in src/views',
  (_route, answers) => {
    const shown = Object.values(answers).flatMap((answer) => contentOf(answer).map(([, schema]) => schema))
    expect(shown.filter((schema) => !schemas.has(schema))).toEqual([])
  },
)

/** Sections of the configuration, and what a client sends, are strict. */
const OUTER = /\bz\s*\.(?:object|looseObject)\(|\bnamedObject\(/

test('no other file describes the fields of what leaves the process', () => {
  expect(files.filter((name) => OUTER.test(sourceOf(name)))).toEqual([])
})
