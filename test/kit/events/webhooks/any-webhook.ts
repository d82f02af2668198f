import type { z } from 'zod'
import { webhookSection, type WebhookConfig } from '../../../../src/events/webhooks/webhook-section.ts'

export const SECRET = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`

/** The configuration of a webhook, in a file's own form where something is given. */
export function webhookOf(given: Partial<z.input<typeof webhookSection>> = {}): WebhookConfig {
  return webhookSection.parse({ name: 'crm', url: 'http://127.0.0.1:9/hooks', secret: SECRET, ...given })
}
