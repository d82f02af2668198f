import type { z } from 'zod'
import { address } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import type { MessageReceiver } from '../../receiver.ts'
import { httpHeaders } from './http-headers.ts'

const webhookSection = section({
  url: secret(address(), { of: 'the address', about: 'Gets each message as JSON', example: 'WEBHOOK_URL' }),
  headers: httpHeaders().prefault({}).describe('Sent with each request; the values are secrets'),
})

export type WebhookConfig = z.output<typeof webhookSection>

/** An address of the user's own, which gets each message as JSON (webhook-body.ts). */
export const webhook: MessageReceiver<typeof webhookSection> = {
  about: 'An address of your own',
  section: webhookSection,
  create: async (config, deps) => (await import('./webhook-send.ts')).webhookSend(config, deps),
}
