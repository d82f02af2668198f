import { z } from 'zod'
import { isMap } from '../path.ts'
import { missingSecret } from './missing-secret.ts'
import { aSecret, baseAddress, fileName, headerValue, nameOfTarget, oneOf, text } from './scalars.ts'
import { section } from './section.ts'

/** One entry of `targets`. */
export const targetSchema = section(
  {
    name: nameOfTarget().optional().describe('Value of the label `target`; default: app_id, else the host of base_url'),
    app_id: text('an app id of letters, digits and hyphens, in quotes', (id) => /^[a-z\d-]+$/i.test(id))
      .meta({ pattern: '^[A-Za-z0-9-]+$' })
      .optional()
      .describe('The app, as the dashboard of the calls service shows it'),
    region: oneOf(['us', 'eu', 'in']).optional().describe('Region of the app'),
    domain: text('a domain name', (name) => /^[a-z\d-]+(?:\.[a-z\d-]+)*$/i.test(name))
      .optional()
      .describe('Domain of the calls service; default: cometchat.io'),
    base_url: baseAddress()
      .optional()
      .describe('Whole address of the calls service, path prefix included, in place of app_id and region'),
    chat_base_url: baseAddress()
      .optional()
      .describe('With base_url: whole address of the chat service, for the command `token`'),
    api_key: headerValue('the key')
      .optional()
      .describe('A key of scope fullAccess; a secret')
      .meta(aSecret('CALLWATCH_API_KEY')),
    api_key_file: fileName().optional().describe('File that holds the key, in place of api_key'),
    on_behalf_of: headerValue('a uid').optional().describe('List only the calls of this user'),
    query: z
      .record(z.string(), queryValue())
      .prefault({})
      .superRefine(refusePaging, { when: () => true })
      .describe('Further parameters of List Calls, passed through'),
  },
  (target, report) => {
    if (target.base_url !== undefined) {
      for (const key of ['region', 'domain'] as const) {
        if (target[key] === undefined) continue
        report(
          [key],
          `\`${key}\` is not accepted beside \`base_url\`, which is the whole address; expected one of them`,
        )
      }
    } else {
      if (target.app_id === undefined)
        report(['app_id'], 'missing; expected an app id and its region, or a base address')
      else if (target.region === undefined) report(['region'], 'missing; expected one of `us`, `eu`, `in`')
      if (target.chat_base_url !== undefined) {
        report(['chat_base_url'], '`chat_base_url` is accepted beside `base_url` only; expected both or neither')
      }
    }
    missingSecret('api_key', 'the key')(target, report)
  },
)

function queryValue() {
  const error = 'a text, a number, true or false'
  return z.codec(z.union([z.string(), z.number(), z.boolean()], { error }), z.string(), {
    decode: String,
    encode: (value) => value,
  })
}

function refusePaging(query: unknown, context: z.RefinementCtx) {
  if (!isMap(query)) return
  for (const key of ['page', 'perPage'].filter((name) => Object.hasOwn(query, name))) {
    const message = `\`${key}\` is not accepted, because callwatch pages by itself; expected another parameter`
    context.addIssue({ code: 'custom', path: [key], message, params: { sentence: true } })
  }
}
