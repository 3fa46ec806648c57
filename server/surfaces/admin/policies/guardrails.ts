import {
  guardrailConfig,
  guardrailConfigCreate,
  guardrailConfigQuery,
  guardrailConfigUpdate,
  guardrailTrial,
  guardrailTrialResult,
  type GuardrailTrialResult,
} from "@gatehouse/contracts/guardrails";
import { problemsOf } from "../../../controls/guardrails/guard-settings.ts";
import { guardrailConfigs } from "../../../directory/policies/guardrail-configs.ts";
import { tryGuardrail } from "../../../controls/guardrails/trial.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/guardrails/configs";
const configs = guardrailConfigs(problemsOf);

export const guardrailOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "configs",
    noun: "guardrail configuration",
    tag: "Guardrails",
    area: "policies",
    table: "guardrail_configs",
    records: configs,
    query: guardrailConfigQuery,
    create: guardrailConfigCreate,
    update: guardrailConfigUpdate,
    read: guardrailConfig,
    notes: {
      create: "It holds for calls of the groups named and of those below them.",
      update: "What the body leaves out stays as it is; surfaces, builtin and providers are each replaced as a whole.",
    },
  }),
  operation({
    tag: "Guardrails",
    access: "policies:read",
    reach: "one",
    method: "POST",
    path: `${PATH}/{id}/test`,
    subject: "guardrail_configs",
    summary: "Try a guardrail configuration on a text",
    description:
      "Says what would be found in the text on one surface, and what would happen to it. Nothing is recorded, and no engine is " +
      "asked. A disabled configuration is tried as if it were enabled.",
    body: guardrailTrial,
    answer: { status: 200, about: "What was found", schema: guardrailTrialResult },
    run: async (call): Promise<GuardrailTrialResult> =>
      tryGuardrail(
        await configs.get(call.services.directory, call.tenantId, idOf(call)),
        call.body.surface ?? "chat_input",
        call.body.text,
      ),
  }),
];
