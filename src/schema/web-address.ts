import { isLoopback } from '../network/loopback.ts'

/**
 * Whether callwatch may send a secret to this address: https, or http on loopback (127.0.0.0/8, ::1, localhost), and without
 * user name and password.
 */
export function isSafeAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || /\s/.test(text)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** Whether a path can be appended to this address: it is safe, and has no query and fragment. */
export function isSafeBaseAddress(text: string): boolean {
  return isSafeAddress(text) && !/[?#]/.test(text)
}

/** Whether a path can be appended to this address, https or http. For services to which callwatch sends no secret. */
export function isBaseAddress(text: string): boolean {
  return isLink(text) && isSafeBaseAddress(text.replace(/^http:/i, 'https:'))
}

/** Whether a text is an http or https URL that a person can open. */
export function isLink(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** The host of an address, with its port if given; undefined if the text is no address. */
export function hostOf(text: string): string | undefined {
  return URL.parse(text)?.host
}
