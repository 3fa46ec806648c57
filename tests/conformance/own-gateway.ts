import { compose } from "../../server/compose.ts";
import { readConfiguration } from "../../server/kernel/configuration.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import { signIn } from "../support/admin.ts";
import { testDatabase } from "../support/database.ts";
import { newTeam } from "../e2e/mcp-harness.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../support/gateway.ts";

/** A gateway that nobody has used yet, in this process and on a database of its own. */
export interface OwnGateway {
  /** What a driver has to know of it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function ownGateway(): Promise<OwnGateway> {
  const [database, folder] = [await testDatabase(), await temporaryDirectory()];
  const env = { GW_RUNTIME_PORT: "0", GW_ADMIN_PORT: "0", GW_DATA_DIR: folder, DATABASE_URL: database.url, GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD };
  const gateway = await compose(readConfiguration(env), env, jsonLog("error"));
  const { apiKey, groupId } = await newTeam(await signIn(gateway.adminUrl), "driver");
  return {
    env: { DRIVER_ADMIN_URL: gateway.adminUrl, DRIVER_RUNTIME_URL: gateway.runtimeUrl, DRIVER_API_KEY: apiKey, DRIVER_GROUP_ID: groupId },
    async stop() {
      await gateway.stop();
      await database.close();
      await removeDirectory(folder);
    },
  };
}
