import { z } from 'zod'
import { labelValues } from '../../alerts/rule-keys.ts'
import { duration } from '../../schema/duration.ts'
import { address, nameText, oneOf, someOf, text } from '../../schema/scalars.ts'
import { secret } from '../../schema/secret.ts'
import { labelMap, section } from '../../schema/section.ts'
import { EVENT_TYPES } from '../../views/event.ts'
import { isSigningSecret } from './sign.ts'

const MAX_TIMEOUT_SECONDS = 60
const atLeastOne = { error: 'at least one, or no such key for all' }

const signingSecret = () =>
  text(
    '`whsec_` and the base64 of 24 to 64 random bytes, as `echo "whsec_$(openssl rand -base64 32)"` prints',
    isSigningSecret,
  ).meta({ pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$' })

/** One item of `events.webhooks`. Durations are in seconds. */
export const webhookSection = section({
  name: nameText().describe('Name of the webhook, in metrics and commands'),
  url: secret(address(), { of: 'the URL', about: 'Gets each event in a POST request', example: 'CRM_WEBHOOK_URL' }),
  secret: secret(signingSecret(), { of: 'the secret', about: 'Signs each request', example: 'CRM_WEBHOOK_SECRET' }),
  old_secret: secret(signingSecret(), {
    of: 'the old secret',
    about: 'Signs each request as well, while you change the secret',
  }).optional(),
  types: someOf(EVENT_TYPES).min(1, atLeastOne).optional().describe('Only events of these types; default: all'),
  match: labelMap(labelValues()).prefault({}).describe('Only calls and alerts with these labels; default: all'),
  targets: z
    .array(text('the name of a target'))
    .min(1, atLeastOne)
    .optional()
    .describe('Only events of these targets; default: all'),
  timeout: duration({ min: 1, max: MAX_TIMEOUT_SECONDS }).prefault('15s').describe('How long a request may take'),
  from: oneOf(['now', 'start']).prefault('now').describe('Where a new webhook begins: now, or at the start of the log'),
})

export type WebhookConfig = z.output<typeof webhookSection>
