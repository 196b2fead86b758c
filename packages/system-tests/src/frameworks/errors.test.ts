import { expect, test } from '@jest/globals'
import * as core from '@sluice/core'
import * as express from '@sluice/express'
import * as fastify from '@sluice/fastify'
import * as koa from '@sluice/koa'

test.each(Object.entries({ express, fastify, koa }))(
  '%s exports the classes of errors that its users compare with',
  (_, { RateLimitError, SluiceError, StoreError }) => {
    expect([RateLimitError, SluiceError, StoreError]).toEqual([
      core.RateLimitError,
      core.SluiceError,
      core.StoreError,
    ])
  },
)
