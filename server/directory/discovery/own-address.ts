import { gatewayOriginsOf } from "./governance.ts";

const EVERY_ADDRESS = new Set(["0.0.0.0", "[::]"]);

/**
 * Whether an address that answers say the gateway is reached at is the gateway's: an operator named it, or the gateway listens there.
 * Any other one only the request names, and whoever sends that names what they like.
 */
export function ownAddress(publicUrl: string | null, gatewayOrigins: readonly string[]): (base: string) => boolean {
  if (publicUrl !== null) return () => true;
  const own = new Set(localOrigins(gatewayOrigins));
  return (base) => own.has(base);
}

/** Where the gateway is reached that listens at these: who listens everywhere is reached by the names of its own machine. */
export function localOrigins(gatewayOrigins: readonly string[]): string[] {
  return gatewayOrigins.flatMap((origin) => {
    const { protocol, hostname, port } = new URL(origin);
    return EVERY_ADDRESS.has(hostname) ? gatewayOriginsOf(`${protocol}//127.0.0.1:${port}`) : [origin];
  });
}
