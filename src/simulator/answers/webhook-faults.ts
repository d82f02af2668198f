/**
 * What may go wrong with a webhook:
 *
 * - `lost`: it never comes
 * - `late`: it comes 5 to 60 s late
 * - `twice`: it comes again after 10 s
 * - `reordered`: later ones overtake it
 * - `other_app`: the same of another app comes, too
 * - `forged`: another one with a wrong password comes, too
 */
export const webhookFaultNames = ['lost', 'late', 'twice', 'reordered', 'other_app', 'forged'] as const

export type WebhookFault = (typeof webhookFaultNames)[number]
