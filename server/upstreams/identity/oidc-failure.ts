import * as oidc from "openid-client";

/** An error code. Other text of a provider may repeat the secret it was sent. */
const CODE = /^[a-z_]{1,60}$/;

/** Describes a provider's failure for whoever configures it; the library's own message omits the provider's answer. */
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
