import { configCommand } from "../../../server/cli/config.ts";
import { ADMIN_PASSWORD } from "../gateway.ts";

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `gatehouse config` for a tenant of the gateway at an address. `seen` receives all output so far on each new output. */
export async function toldByConfig(
  adminUrl: string,
  tenant: string,
  args: readonly string[],
  env: Record<string, string> = {},
  seen?: (out: string) => void | Promise<void>,
): Promise<Told> {
  const told = { out: "", err: "" };
  const stdout = (text: string): void | Promise<void> => {
    told.out += text;
    return seen?.(told.out);
  };
  const io = { stdout, stderr: (text: string) => void (told.err += text) };
  const variables = { GATEHOUSE_ADMIN_PASSWORD: ADMIN_PASSWORD, ...env } as Record<string, string>;
  const code = await configCommand([...args, "--url", adminUrl, "--tenant", tenant], variables, io);
  return { code, ...told };
}
