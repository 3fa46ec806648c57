/** Where the provisioning API stands on the control plane. */
export const SCIM_PATH = "/scim/v2";
