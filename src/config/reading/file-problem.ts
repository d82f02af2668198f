/** Why a file cannot be read, worded to follow the file's name. */
export function fileProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  if (code === 'EISDIR') return 'is a folder'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read, because its permissions forbid it'
  if (code === 'NOT_A_FILE') return 'is a pipe or a device and no file'
  if (code === 'NOT_WRITTEN') return 'is a pipe to which nothing was written within five seconds'
  if (code === 'TOO_LARGE') return 'is larger than 1 MB'
  return `cannot be read (${typeof code === 'string' ? code : 'unknown reason'})`
}
