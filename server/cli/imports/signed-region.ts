/** Bedrock calls are signed for the region in their host name. If the host does not contain it, the provider's record must. */
export function signedRegion(format: string, baseUrl: string, region: unknown): { region?: string } {
  const isInHost = () => URL.canParse(baseUrl) && new URL(baseUrl).hostname.split(".").includes(String(region));
  return format === "bedrock" && typeof region === "string" && !isInHost() ? { region } : {};
}
