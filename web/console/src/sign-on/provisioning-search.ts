/** Search parameters in the URL of the provisioning log. */
export interface ProvisioningSearch {
  readonly directory?: string;
  readonly resource?: "User" | "Group";
  readonly outcome?: (typeof OUTCOMES)[number];
  readonly id?: string;
}

export const OUTCOMES = [
  "created",
  "adopted",
  "restored",
  "changed",
  "deactivated",
  "reactivated",
  "deleted",
  "conflict",
  "refused",
] as const;

export function provisioningSearchOf(given: Record<string, unknown>): ProvisioningSearch {
  const { directory, resource, id } = given;
  const outcome = OUTCOMES.find((one) => one === given["outcome"]);
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const members = {
    directory: text(directory),
    resource: resource === "User" || resource === "Group" ? resource : undefined,
    outcome,
    id: text(id),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
