import { access } from "../controls/access/access.ts";
import { toolAccess } from "../controls/access/tool-access.ts";
import type { RequestControl } from "./control.ts";
import { parameters } from "../controls/parameters/parameters.ts";

/**
 * The request controls in the order every call passes them. The order is part of the product (docs/lifecycle.md): who
 * may use the model is settled before anything is counted, changed or looked at.
 */
export function requestControls(
  limits: RequestControl,
  guardrails: RequestControl,
  semanticPolicies: RequestControl,
): readonly RequestControl[] {
  return [access, toolAccess, limits, parameters, guardrails, semanticPolicies];
}
