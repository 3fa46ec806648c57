import { compose } from "../../server/compose.ts";
import { readConfiguration } from "../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { newTeam, type Team } from "../e2e/tools/mcp-harness.ts";
import { signIn } from "../support/worlds/admin.ts";
import { testDatabase } from "../support/database.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../support/gateway.ts";

/** A gateway that runs one scenario after the other without keeping state between them. */
export interface ClientGateway {
  /** Runs `work` with a freshly started gateway and the environment variables a driver needs. */
  during<T>(work: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

/**
 * Each scenario's servers listen on ports that the system chose and may reuse. A gateway that remembered an earlier scenario would mistake
 * the server at that address for the earlier one, and use what an earlier issuer said.
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
      // Deleting the servers deletes what the database kept about them; state in memory ended with the previous gateway.
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
