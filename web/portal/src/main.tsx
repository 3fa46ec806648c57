import { forgetBetweenPeople, startApp } from "@gatehouse/web-kit/app-frame.tsx";
import { resumeUnlessSignedOn } from "@gatehouse/web-kit/sign-on.tsx";
import { PortalApp } from "./portal-app.tsx";
import { ownSession } from "./portal-client.ts";
import { translations } from "./translations.ts";
import "./portal.css";

await translations.start();
forgetBetweenPeople(ownSession);
void resumeUnlessSignedOn(ownSession);
ownSession.followOtherTabs();
startApp(<PortalApp />);
