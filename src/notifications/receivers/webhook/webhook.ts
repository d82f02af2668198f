import type { z } from 'zod'
import { address } from '../../../schema/scalars.ts'
import { secret } from '../../../schema/secret.ts'
import { section } from '../../../schema/section.ts'
import { httpHeaders } from '../../http-headers.ts'
import type { ReceiverType } from '../../receiver.ts'

const webhookSection = section({
  url: secret(address(), { of: 'the URL', about: 'Gets each message as JSON', example: 'WEBHOOK_URL' }),
  headers: httpHeaders().prefault({}).describe('Sent with each request; the values are secrets'),
})

export type WebhookConfig = z.output<typeof webhookSection>

/** A generic webhook: gets each message as JSON (webhook-send.ts). */
export const webhook: ReceiverType<typeof webhookSection> = {
  about: 'A generic webhook',
  section: webhookSection,
  create: async (config, context) => {
    const { webhookSend } = await import('./webhook-send.ts')
    return { send: webhookSend(config, context) }
  },
}
