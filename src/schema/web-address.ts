import { isLoopback } from '../network/loopback.ts'

/**
 * Whether a text is an address that callwatch may call with a secret in its hands: https, or http on loopback
 * (127.0.0.0/8, ::1, localhost), and no user name or password in it.
 */
export function isSafeAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || /\s/.test(text)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** Whether a text is an address to which a path can be appended: safe, and without query and fragment. */
export function isSafeBaseAddress(text: string): boolean {
  return isSafeAddress(text) && !/[?#]/.test(text)
}

/**
 * Whether a text is an address to which a path can be appended, https or http: for what callwatch calls without a
 * secret in its hands.
 */
export function isBaseAddress(text: string): boolean {
  return isLink(text) && isSafeBaseAddress(text.replace(/^http:/i, 'https:'))
}

/** Whether a text is an http or https URL that a person can open. */
export function isLink(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** The host of an address, with the port where one is given; undefined where the text is no address. */
export function hostOf(text: string): string | undefined {
  return URL.parse(text)?.host
}
