import type { PagePlane } from "../directory/people/page-sessions.ts";
import { sharedFailures } from "../directory/people/shared-failures.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import { openValkey } from "../runtime/valkey.ts";

/**
 * The failed sign-ins, and what clients do without signing in, at a plane, as the machines of a fleet count it together in Valkey; undefined
 * without one. Connects when first asked.
 */
export function openSharedFailures(
  plane: PagePlane,
  { valkeyUrl }: Pick<Configuration, "valkeyUrl">,
  { secrets, log }: { readonly secrets: SecretBox; readonly log: Log },
): (ReturnType<typeof sharedFailures> & { close(): void }) | undefined {
  if (valkeyUrl === undefined) return undefined;
  const valkey = openValkey(valkeyUrl);
  return {
    ...sharedFailures({
      plane,
      run: (script, keys, args) => valkey.run(script, keys, args),
      nameOf: (text) => secrets.hmac("login-failures", text),
      away: (error) => log.warn("login_throttle_store_away", { error }),
      back: () => log.info("login_throttle_store_back"),
    }),
    close: () => valkey.close(),
  };
}
