/** What is known of the app of a target. With `base_url` alone, nothing is. */
export type App = { appId?: string | undefined; region?: string | undefined }

const ANY = '[^.]+'

/**
 * A session id without `v1.<region>.<app id>.`, if it has that of the app. The service puts it before the id that an app chooses: in
 * webhooks always, in other answers as it likes.
 */
export function withoutPrefix(id: string, { appId = ANY, region = ANY }: App): string {
  return id.replace(new RegExp(String.raw`^v1\.${region}\.${appId}\.(?=.)`, 'i'), '')
}

/** The id of a session, and its other form: without the prefix of the app, or with it, if that is known. */
export function formsOf(id: string, app: App): string[] {
  const { appId, region } = app
  const bare = withoutPrefix(id, app)
  if (bare !== id) return [id, bare]
  return appId === undefined || region === undefined ? [id] : [id, `v1.${region}.${appId}.${id}`]
}

/** The forms of a session id, of whichever of these apps it is. */
export function formsIn(id: string, apps: readonly App[]): string[] {
  return [...new Set([id, ...apps.flatMap((app) => formsOf(id, app))])]
}
