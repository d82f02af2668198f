/** Whether an `Accept` names this type, and not with the weight 0, which refuses it (RFC 9110, section 12.4.2). */
export function accepts(header: string | undefined, type: string): boolean {
  return (header ?? '').split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return name === type && !parameters.some((text) => /^q\s*=\s*0(?:\.0*)?$/.test(text))
  })
}
