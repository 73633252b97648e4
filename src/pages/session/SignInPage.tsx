/** Sign-in. A user with a session is redirected to the intended page. */
import { Button, Center, Divider, Paper, Stack, Text, Title } from "@mantine/core"
import { useEffect } from "react"
import type { SignInProblem } from "../../domain/Staff.ts"
import { pathAfterSignIn } from "../../domain/PathAfterSignIn.ts"
import { useAddress } from "../app/address.ts"
import { useAnswer } from "../app/queries.ts"
import { SignInForm } from "../app/session.tsx"
import { Refusal } from "../parts/Refusal.tsx"

/** Messages of failed sign-ins, by the server's code in the address. */
const problems: Readonly<Record<SignInProblem, string>> = {
  link: "This link has been used or is too old. Ask for another one: npm run -s backoffice -- staff ticket",
  wait: "Too many attempts failed. Wait a minute and try again.",
  unavailable: "Signing in is not possible right now. Try again in a moment.",
  role: "The identity provider gives you no role here, or your account is switched off. Ask an admin.",
  last_admin:
    "You are the last active admin of all operators, and the identity provider names another role or single operators for you. Make another admin first.",
  provider: "The identity provider did not answer, or did not sign you in, or it took too long. Begin again."
}

const isProblem = (problem: string): problem is SignInProblem => Object.hasOwn(problems, problem)

export default function SignInPage() {
  const [{ next, problem }] = useAddress()
  const go = () => location.assign(pathAfterSignIn(next))
  const session = useAnswer("session.show")
  const ways = useAnswer("sign_in.show")
  const isSignedIn = session.data !== undefined
  useEffect(() => {
    document.title = "Sign in · Pitboss"
  }, [])
  useEffect(() => {
    if (isSignedIn) location.replace(pathAfterSignIn(next))
  }, [isSignedIn, next])
  return (
    <Center component="main" mih="90vh" p="md">
      <Paper withBorder p="lg" w={380}>
        <Stack>
          <Title order={1} size="h3">Sign in to Pitboss</Title>
          {problem !== undefined && (
            <Refusal error={new Error(isProblem(problem) ? problems[problem] : "Signing in failed. Try again.")} />
          )}
          <SignInForm done={go} />
          {ways.data?.data.oidc === true && (
            <>
              <Divider label="or" />
              <Button
                component="a"
                variant="default"
                href={`/sign-in/oidc?next=${encodeURIComponent(pathAfterSignIn(next))}`}
              >
                Sign in with the identity provider
              </Button>
            </>
          )}
          <Text size="xs" c="dimmed">
            No account yet? An admin makes one, or prints a link: npm run -s backoffice -- staff ticket
          </Text>
        </Stack>
      </Paper>
    </Center>
  )
}
