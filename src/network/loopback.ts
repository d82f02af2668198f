/** Whether a host in an address or a setting is this machine: 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|127(?:\.\d{1,3}){3})$/i.test(host)
}
