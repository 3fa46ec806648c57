import { type AdminClient, signIn } from "./worlds/admin.ts";
import { testDatabase } from "./database.ts";
import { type FakeUpstream, startFakeUpstream } from "./vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "./gateway.ts";

/** A gateway process with its own database, a fake upstream, and a signed-in administrator. */
export interface World {
  readonly upstream: FakeUpstream;
  readonly gateway: GatewayProcess;
  readonly admin: AdminClient;
  readonly databaseUrl: string;
  end(): Promise<void>;
}

export async function startWorld(env: Record<string, string> = {}): Promise<World> {
  const database = await testDatabase();
  const upstream = startFakeUpstream();
  const gateway = await startGateway({ databaseUrl: database.url, env: { GW_AUDIT_SHIP_WAIT_MS: "10", ...env } });
  const admin = await signIn(gateway.adminUrl);
  return {
    upstream,
    gateway,
    admin,
    databaseUrl: database.url,
    async end() {
      await gateway.stop();
      await upstream.stop();
      await database.close();
      await removeDirectory(gateway.dataDir);
    },
  };
}
