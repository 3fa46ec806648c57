import { compose } from "../../server/compose.ts";
import { readConfiguration } from "../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { newTeam, type Team } from "../e2e/tools/mcp-harness.ts";
import { signIn } from "../support/worlds/admin.ts";
import { testDatabase } from "../support/database.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../support/gateway.ts";

/** A gateway that serves one scenario after the other and knows nothing of those before. */
export interface ClientGateway {
  /** Starts it for `work`, which is given what a driver has to know of it. */
  during<T>(work: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

/**
 * Each scenario has its servers at ports that the system chose, which may be those of an earlier one. A gateway that met
 * that one would take their address for another tool server's, and what an issuer said there for what the new one says.
 */
export async function clientGateway(): Promise<ClientGateway> {
  const [database, folder] = [await testDatabase(), await temporaryDirectory()];
  const settings = {
    GW_RUNTIME_PORT: "0",
    GW_ADMIN_PORT: "0",
    GW_DATA_DIR: folder,
    DATABASE_URL: database.url,
    GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
  };
  let team: Team | null = null;
  return {
    async during(work) {
      // With the servers goes what was kept of them; what was remembered went with the gateway that was stopped.
      await database.db.deleteFrom("mcp_servers").execute();
      const gateway = await compose(readConfiguration(settings), settings, jsonLog("error"));
      try {
        const { apiKey, groupId } = (team ??= await newTeam(await signIn(gateway.adminUrl), "driver"));
        return await work({
          DRIVER_ADMIN_URL: gateway.adminUrl,
          DRIVER_RUNTIME_URL: gateway.runtimeUrl as string,
          DRIVER_API_KEY: apiKey,
          DRIVER_GROUP_ID: groupId,
        });
      } finally {
        await gateway.stop();
      }
    },
    async end() {
      await database.close();
      await removeDirectory(folder);
    },
  };
}
