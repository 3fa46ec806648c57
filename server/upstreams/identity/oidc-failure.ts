import * as oidc from "openid-client";

/** Of an error code; what a provider says beside it may repeat the secret that it was sent. */
const CODE = /^[a-z_]{1,60}$/;

/** What went wrong with a provider, for whoever sets it up: the library's own words leave out what the provider answered. */
export function oidcFailure(error: unknown): Error {
  if (error instanceof oidc.ResponseBodyError)
    return new Error(`the provider answered ${error.status} ${CODE.test(error.error) ? error.error : "and a reason that is no code"}`);
  if (error instanceof oidc.WWWAuthenticateChallengeError)
    return new Error(`the provider answered ${error.status}: it takes another client secret`);
  const words: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one.message !== "something went wrong" && !words.includes(one.message)) words.push(one.message);
    if (one.cause instanceof Response) words.push(`status ${one.cause.status}`);
  }
  return new Error(words.length === 0 ? String(error) : words.join(": "));
}
