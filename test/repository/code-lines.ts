/** Lines of TypeScript, JavaScript or CSS that have code: neither blank nor comment. */
export function codeLines(text: string): number {
  let isComment = false
  return text.split('\n').filter((line) => {
    const code = line.trim()
    if (isComment) {
      isComment = !code.includes('*/')
      return false
    }
    if (code === '' || code.startsWith('//')) return false
    if (!code.startsWith('/*')) return true
    isComment = !code.includes('*/')
    return !isComment && !code.endsWith('*/')
  }).length
}
