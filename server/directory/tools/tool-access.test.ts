import { expect, test } from "bun:test";
import { approversOf, mayUseTool, needsApproval, toolAccessOf } from "./tool-access.ts";

type Configs = Parameters<typeof toolAccessOf>[0];

/** Nearest group first. */
function approvers(name: string, configs: readonly { readonly marks: string[]; readonly approvers: string[] }[]): readonly string[] {
  const rows = configs.map((config, at) => ({
    id: `config-${at}`,
    mcp_server_id: "mcp-1",
    enabled: true,
    enabled_tools: null,
    disabled_tools: [],
    approval_required_tools: config.marks,
    approval_timeout_seconds: 900,
    approver_group_ids: config.approvers,
  }));
  const access = toolAccessOf(rows as unknown as Configs).get("mcp-1");
  return access === undefined ? ["no access"] : approversOf(access, name);
}

test("approvers of one server configuration decide only on the tools that it marks for approval", () => {
  const team = { marks: ["post"], approvers: ["leads"] };
  const organization = { marks: ["wipe"], approvers: ["security"] };
  expect(approvers("post", [team, organization])).toEqual(["leads"]);
  expect(approvers("wipe", [team, organization])).toEqual(["security"]);
  expect(approvers("wipe", [team, { marks: ["*"], approvers: ["security"] }])).toEqual(["security"]);
});

test("a child group's configuration cannot add approvers to a parent's tools, but can narrow them", () => {
  const above = { marks: ["wipe"], approvers: ["security", "board"] };
  expect(approvers("wipe", [{ marks: ["wipe"], approvers: ["leads"] }, above])).toEqual(["security", "board"]);
  expect(approvers("wipe", [{ marks: ["*"], approvers: ["leads", "board"] }, above])).toEqual(["board"]);
  expect(approvers("wipe", [{ marks: ["wipe"], approvers: [] }, above])).toEqual(["security", "board"]);
  expect(approvers("wipe", [{ marks: ["wipe"], approvers: [] }])).toEqual([]);
});

test("disabled tools and tools that need approval are recognized in every spelling that a server may accept", () => {
  const row = {
    id: "config",
    mcp_server_id: "mcp-1",
    enabled: true,
    enabled_tools: null,
    disabled_tools: ["wipe"],
    approval_required_tools: ["Post"],
    approval_timeout_seconds: 900,
    approver_group_ids: ["leads"],
  };
  const access = toolAccessOf([row] as unknown as Configs).get("mcp-1");
  if (access === undefined) throw new Error("no access");
  for (const name of ["wipe", "Wipe", "WIPE", " wipe", "wipe\n", "\uff57ipe"])
    expect([name, mayUseTool(access, name)]).toEqual([name, false]);
  for (const name of ["post", "POST ", "po\u017ft"])
    expect([name, needsApproval(access, name), approversOf(access, name)]).toEqual([name, true, ["leads"]]);
  for (const name of ["wipe_all", "swipe", "wip"]) expect([mayUseTool(access, name), needsApproval(access, name)]).toEqual([true, false]);
});
