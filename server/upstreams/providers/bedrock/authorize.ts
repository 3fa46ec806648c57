import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { ProviderTarget } from "../provider.ts";
import { readBedrockCredential, signedHeaders } from "./credentials.ts";

interface ToAuthorize {
  readonly method?: "GET" | "POST";
  readonly url: string;
  readonly body: string;
}

/** The headers that authenticate a request to Bedrock; a refusal if the AWS region is unknown. */
export async function authorizeBedrock(
  target: ProviderTarget,
  { method = "POST", url, body }: ToAuthorize,
  clock: { now(): number },
): Promise<{ readonly headers: Record<string, string> } | Refusal> {
  if (target.apiKey === null) return { headers: {} };
  const credential = readBedrockCredential(target.apiKey);
  if (credential.kind === "bearer") return { headers: { authorization: `Bearer ${credential.token}` } };
  const region = regionOf(target);
  return region === null
    ? noRegion()
    : { headers: await signedHeaders(credential, { method, url, body, region, now: new Date(clock.now()) }) };
}

export const noRegion = (): Refusal =>
  refuse("upstream_error", "The Bedrock provider needs an AWS region.", {
    reason: "neither the provider's base_url nor its region names an AWS region",
  });

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d+$/;

/** The region in the hostname takes precedence, because AWS checks the signature against it; otherwise the record's region. */
export function regionOf({ baseUrl, region }: ProviderTarget): string | null {
  const named = new URL(baseUrl).hostname.split(".").find((label) => REGION.test(label));
  return named ?? (region !== null && REGION.test(region) ? region : null);
}
