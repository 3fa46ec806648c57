/** Calls to Bedrock are signed for the region in their host. Of an endpoint whose name says none, the provider's record has to. */
export function signedRegion(format: string, baseUrl: string, region: unknown): { region?: string } {
  const isSaid = () => URL.canParse(baseUrl) && new URL(baseUrl).hostname.split(".").includes(String(region));
  return format === "bedrock" && typeof region === "string" && !isSaid() ? { region } : {};
}
