/** What `http.auth` changes besides, after its name in a sentence. */
export const AUTH_OPENS = 'with which callwatch listens on all addresses unless http.host is set'
