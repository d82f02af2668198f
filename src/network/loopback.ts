import { BlockList, isIPv6 } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether a host in an address or a setting is this machine: 127.0.0.0/8, ::1 or localhost, in any spelling. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  return /^localhost$/i.test(host) || LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
