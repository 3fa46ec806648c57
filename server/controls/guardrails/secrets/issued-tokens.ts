import { issuedToken } from "./issued-token.ts";

const URL_SAFE = /[A-Za-z0-9_-]/;

/** Anthropic API, admin and OAuth keys. */
export const anthropicKey = issuedToken({
  category: "anthropic_key",
  signs: ["sk-ant-"],
  begins: "sk-ant-",
  shapes: [/sk-ant-[a-z]{2,8}\d{0,2}-([A-Za-z0-9_-]{24,70})/y],
  rest: URL_SAFE,
});

/** Google API keys (both forms), OAuth client secrets, access and refresh tokens. */
export const googleKey = issuedToken({
  category: "google_key",
  signs: ["AIza", "GOCSPX-", "ya29.", "1//0", "AQ.A"],
  begins: "AIza|GOCSPX-|ya29\\.|1//0|AQ\\.A",
  shapes: [
    /AIza([A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])/y,
    /GOCSPX-([A-Za-z0-9_-]{24,40})/y,
    /ya29\.([A-Za-z0-9_-]{20,80})/y,
    /1\/\/0([A-Za-z0-9_-]{30,80})/y,
    /AQ\.(A[A-Za-z0-9_-]{40,80})/y,
  ],
  rest: /[A-Za-z0-9_.-]/,
});

/** Slack bot, user, app and workspace tokens, and webhook URLs. */
export const slackToken = issuedToken({
  category: "slack_token",
  signs: ["xox", "xapp-", "hooks.slack"],
  begins: "xox[a-z][-.]|xapp-|(?:https?://)?hooks\\.slack",
  shapes: [
    /xox[abeoprs]-((?:\d{1,14}-){1,3}[A-Za-z0-9]{16,48})/y,
    /xox[a-z]-([A-Za-z0-9%+/_-]{20,80})/y,
    /xox[a-z]\.xox[a-z]-\d-([A-Za-z0-9_-]{20,70})/y,
    /xapp-(\d-[A-Z0-9]{6,14}-\d{6,16}-[A-Za-z0-9]{16,48})/y,
    /(?:https?:\/\/)?hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/([A-Z0-9]{6,14}\/(?:[A-Z0-9]{6,14}|\d{6,20})\/[A-Za-z0-9]{6,24})/y,
  ],
  rest: /[A-Za-z0-9%+/_-]/,
});

/** Stripe secret and restricted keys, live and test, and webhook signing secrets. */
export const stripeKey = issuedToken({
  category: "stripe_key",
  signs: ["k_live_", "k_test_", "k_org_", "whsec_"],
  begins: "[sr]k_(?:live|test|org)_|whsec_",
  shapes: [/[sr]k_(?:org_)?(?:live|test)_([A-Za-z0-9_]{16,80})/y, /whsec_([A-Za-z0-9+/=_-]{24,80})/y],
  rest: /[A-Za-z0-9+/=_-]/,
});

/** GitLab tokens: personal, project, deploy, runner, job, trigger, feed, agent and application. */
export const gitlabToken = issuedToken({
  category: "gitlab_token",
  signs: ["gl", "GR1348941"],
  begins: "gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-|GR1348941",
  shapes: [/gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-([A-Za-z0-9_.=-]{20,80})/y, /GR1348941([A-Za-z0-9_-]{20,40})/y],
  rest: /[A-Za-z0-9_.-]/,
});

/** npm access tokens. */
export const npmToken = issuedToken({
  category: "npm_token",
  signs: ["npm_"],
  begins: "npm_[A-Za-z0-9]",
  shapes: [/npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])/y],
  rest: /[A-Za-z0-9]/,
});

/** Tokens of PyPI and TestPyPI. */
export const pypiToken = issuedToken({
  category: "pypi_token",
  signs: ["pypi-A"],
  begins: "pypi-A",
  shapes: [/pypi-(Ag[A-Za-z0-9_-]{40,80})/y],
  rest: URL_SAFE,
});

/** Keys of this gateway. */
export const gatewayKey = issuedToken({
  category: "gateway_key",
  signs: ["sk_gw_api_"],
  begins: "sk_gw_api_",
  shapes: [/sk_gw_api_([A-Za-z0-9_-]{43})(?![A-Za-z0-9_-])/y],
  rest: URL_SAFE,
});
