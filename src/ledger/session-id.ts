/** What a target says of its app. The vendor's addresses name app and region: `https://<app id>.call-<region>.<domain>/v3`. */
export type App = { baseUrl?: string | undefined; appId?: string | undefined }

function partsOf({ baseUrl = '', appId }: App): { appId: string | undefined; region: string | undefined } {
  const [, app = appId, region] = /^https:\/\/([^.]+)\.call-([^.]+)\./i.exec(baseUrl) ?? []
  return { appId: app, region }
}

const ANY = '[^.]+'

/**
 * A session id without `v1.<region>.<app id>.`, if it has that of the app, or any where app or region are not known. The service puts it
 * before the id that an app chooses: in webhooks always, in other answers as it likes.
 */
export function withoutPrefix(id: string, app: App): string {
  const { appId = ANY, region = ANY } = partsOf(app)
  return id.replace(new RegExp(String.raw`^v1\.${region}\.${appId}\.(?=.)`, 'i'), '')
}

/** The id of a session, and its other form: without the prefix of the app, or with it, if that is known. */
export function formsOf(id: string, app: App): string[] {
  const { appId, region } = partsOf(app)
  const bare = withoutPrefix(id, app)
  if (bare !== id) return [id, bare]
  return appId === undefined || region === undefined ? [id] : [id, `v1.${region}.${appId}.${id}`]
}

/** The forms of a session id, of whichever of these apps it is. */
export function formsIn(id: string, apps: readonly App[]): string[] {
  return [...new Set([id, ...apps.flatMap((app) => formsOf(id, app))])]
}
