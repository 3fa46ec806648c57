import { gatewayOriginsOf } from "./governance.ts";

const EVERY_ADDRESS = new Set(["0.0.0.0", "[::]"]);

/**
 * Returns a predicate for whether a base address is the gateway's own: configured by the operator, or one it listens on.
 * Any other comes from the request alone, so the client may have made it up.
 */
export function ownAddress(publicUrl: string | null, gatewayOrigins: readonly string[]): (base: string) => boolean {
  if (publicUrl !== null) return () => true;
  const own = new Set(localOrigins(gatewayOrigins));
  return (base) => own.has(base);
}

/** The origins that reach listeners at these addresses; one that listens on all interfaces is reached by the local names. */
export function localOrigins(gatewayOrigins: readonly string[]): string[] {
  return gatewayOrigins.flatMap((origin) => {
    const { protocol, hostname, port } = new URL(origin);
    return EVERY_ADDRESS.has(hostname) ? gatewayOriginsOf(`${protocol}//127.0.0.1:${port}`) : [origin];
  });
}
